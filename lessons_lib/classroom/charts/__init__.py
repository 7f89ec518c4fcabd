"""Charts: each takes a result and draws it; none computes, none knows a widget."""

from lessons_lib.classroom.charts.breaker_rows import BreakerRows
from lessons_lib.classroom.charts.breaker_states import BreakerDiagram
from lessons_lib.classroom.charts.breaker_timeline import BreakerChart
from lessons_lib.classroom.charts.burst import BurstChart
from lessons_lib.classroom.charts.burst_rows import BurstRows
from lessons_lib.classroom.charts.deliveries import DeliveriesChart, DeliveriesPair
from lessons_lib.classroom.charts.game import GameChart
from lessons_lib.classroom.charts.limited_rows import LimitedRows
from lessons_lib.classroom.charts.lines import LinesChart
from lessons_lib.classroom.charts.outage import OutageChart
from lessons_lib.classroom.charts.probes import ProbesChart, ProbesPair
from lessons_lib.classroom.charts.replay import ReplayChart
from lessons_lib.classroom.charts.restarts import RestartsChart
from lessons_lib.classroom.charts.schedules import ScheduleChart
from lessons_lib.classroom.charts.shutdown import ShutdownChart, ShutdownRows
from lessons_lib.classroom.charts.storm import StormChart, StormRows
from lessons_lib.classroom.charts.study import StudyChart, contention_chart, token_chart
from lessons_lib.classroom.charts.two_budgets import TwoBudgetsChart
from lessons_lib.classroom.charts.who_holds import WhoHoldsChart, WhoHoldsRows

__all__ = [
    "BreakerChart",
    "BreakerDiagram",
    "BreakerRows",
    "BurstChart",
    "BurstRows",
    "DeliveriesChart",
    "DeliveriesPair",
    "GameChart",
    "LimitedRows",
    "LinesChart",
    "OutageChart",
    "ProbesChart",
    "ProbesPair",
    "ReplayChart",
    "RestartsChart",
    "ScheduleChart",
    "ShutdownChart",
    "ShutdownRows",
    "StormChart",
    "StormRows",
    "StudyChart",
    "TwoBudgetsChart",
    "WhoHoldsChart",
    "WhoHoldsRows",
    "contention_chart",
    "token_chart",
]
