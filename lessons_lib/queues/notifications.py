"""The lesson's messages: notes that a shipment is late, some of them poisonous."""

import json

from lessons_lib.queues.deaths import die
from lessons_lib.queues.workload import Workload

__all__ = ["body_of", "is_well_formed", "work_on"]

ERROR = "error"


def body_of(message: int, load: Workload, death: str) -> str:
    """Return the body of one message.

    Args:
        message: its number, which is also the shipment's.
        load: which messages do harm.
        death: how a deadly one ends the process, one of `deaths.WAYS`.
    """
    body = {"shipment": message, "late_minutes": 15 * message}
    harm = load.harm(message)
    if harm == "malformed":
        return json.dumps(body)[:-4]  # cut off in the middle
    if harm != "none":
        # Its form is right; only whoever works on it finds out.
        body["effect"] = death if harm == "deadly" else ERROR
    return json.dumps(body)


def is_well_formed(text: str) -> bool:
    """Tell whether a body parses and has the right fields, without working on it."""
    try:
        body = json.loads(text)
    except ValueError:
        return False
    return isinstance(body, dict) and all(
        isinstance(body.get(name), int) for name in ("shipment", "late_minutes")
    )


def work_on(text: str, death: str) -> None:
    """Notify the customer; or raise an error, or end the process, if the body brings that about.

    Args:
        text: the body.
        death: how the process ends if the body does not parse: the careless parser of this
            experiment is as easily killed as any.

    Raises:
        RuntimeError: the polite failure.
    """
    if not is_well_formed(text):
        die(death)
    effect = json.loads(text).get("effect")
    if effect == ERROR:
        raise RuntimeError("the address book does not answer")
    if effect is not None:
        die(effect)
