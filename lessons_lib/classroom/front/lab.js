// The page's side of a lab: native controls, one sentence, one picture, one table.
// All numbers come from Python; here nothing is computed.

// JupyterLab sees every key before the page does: "d d" over a slider would delete the cell.
// This attribute is its own way to leave an element's keys alone; it must stand on the very
// element that has the focus.
const KEYS_ARE_OURS = { input: true, button: true };

function make(tag, attributes = {}, children = []) {
  const node = document.createElement(tag);
  if (KEYS_ARE_OURS[tag]) node.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function slider(control, id, change) {
  const last = control.texts.length - 1;
  const input = make("input", { type: "range", role: "slider", id, min: 0, max: last, step: 1 });
  const output = make("output", { for: id });
  const slide = make("span", { class: "lab-slide" }, [input]);
  const wide = control.play_ms ? "lab-row lab-film" : "lab-row";
  const row = make("div", { class: wide }, [make("label", { for: id, text: control.label }), slide, output]);
  let timer = null;
  const button = control.play_ms ? make("button", { type: "button", class: "lab-play" }) : null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    if (button) {
      button.textContent = "▶";
      button.setAttribute("aria-label", `Play ${control.label}`);
    }
  };
  if (button) {
    slide.prepend(button);
    stop();
    button.addEventListener("click", () => {
      if (timer) return stop();
      if (Number(input.value) >= last) change(0);
      button.textContent = "❚❚";
      button.setAttribute("aria-label", `Pause ${control.label}`);
      timer = setInterval(() => {
        if (!input.isConnected || Number(input.value) >= last) return stop();
        change(Number(input.value) + 1);
      }, control.play_ms);
    });
  }
  input.addEventListener("input", () => {
    stop();
    change(Number(input.value));
  });
  const show = (index) => {
    input.value = index;
    input.setAttribute("aria-valuetext", control.texts[index]);
    output.textContent = control.texts[index];
  };
  return { row, show, stop };
}

function choice(control, id, change) {
  const inputs = control.texts.map((text, index) =>
    make("input", { type: "radio", "aria-label": text, name: id, id: `${id}-${index}`, value: index }));
  const options = control.texts.map((text, index) => make("label", {}, [inputs[index], make("span", { text })]));
  inputs.forEach((input, index) => input.addEventListener("change", () => change(index)));
  const legend = make("span", { id: `${id}-legend`, text: control.label });
  const group = make("div", { class: "lab-options", role: "radiogroup", "aria-labelledby": `${id}-legend` }, options);
  const row = make("div", { class: "lab-row lab-wide" }, [legend, group]);
  return { row, show: (index) => (inputs[index].checked = true), stop: () => {} };
}

function check(control, id, change) {
  const input = make("input", { type: "checkbox", id });
  input.addEventListener("change", () => change(input.checked ? 1 : 0));
  const row = make("div", { class: "lab-row" }, [make("label", { for: id, text: control.label }), make("span", {}, [input])]);
  return { row, show: (index) => (input.checked = index === 1), stop: () => {} };
}

const KINDS = { slider, choice, switch: check };

function render({ model, el }) {
  const spec = model.get("spec");
  // Not counted: this file is loaded anew for each lab, and two labs with the same names would
  // share their radio buttons.
  const lab = `lab-${Math.random().toString(36).slice(2)}`;
  const says = make("p", { class: "lab-says", role: "status", "aria-live": "polite" });
  const look = make("p", { class: "lab-look" });
  const picture = make("img", { class: "lab-picture", width: spec.width, height: spec.height, alt: "", decoding: "sync" });
  const table = make("div", { class: "lab-table" });

  const move = (changes) => {
    model.set("positions", { ...model.get("positions"), ...changes });
    model.save_changes();
  };
  const parts = spec.controls.map((control, number) =>
    KINDS[control.kind](control, `${lab}-${number}`, (index) => {
      look.textContent = "";
      move({ [control.name]: index });
    }));
  const tries = spec.tries.map((entry) => {
    const button = make("button", { type: "button", text: entry.label });
    button.addEventListener("click", () => {
      parts.forEach((part) => part.stop());
      move(entry.positions);
      look.textContent = entry.look_for;
    });
    return button;
  });

  const root = make("section", { class: "lab", "aria-label": spec.title }, [
    make("p", { class: "lab-title", text: spec.title }),
    make("div", { class: "lab-controls" }, parts.map((part) => part.row)),
    make("div", { class: "lab-tries" }, [make("span", { text: "Try:" }), ...tries]),
    look, says, picture, table,
  ]);
  el.append(root);

  const positions = () => {
    const at = model.get("positions");
    spec.controls.forEach((control, number) => parts[number].show(at[control.name]));
  };
  let address = null;
  const view = () => {
    const shown = model.get("view");
    says.textContent = shown.sentence;
    says.classList.toggle("lab-error", shown.error);
    picture.classList.toggle("lab-stale", shown.error);
    table.innerHTML = shown.table;
    if (shown.error) return (picture.alt = "");
    const next = URL.createObjectURL(new Blob([model.get("picture")], { type: "image/png" }));
    const ready = new Image();
    ready.src = next;
    // Decoded first, swapped then: the old picture stands until the new one can be painted.
    ready.decode().catch(() => {}).then(() => {
      if (model.get("view").frame !== shown.frame) return URL.revokeObjectURL(next);
      picture.src = next;
      picture.alt = shown.sentence;
      root.dataset.frame = shown.frame;
      if (address) URL.revokeObjectURL(address);
      address = next;
    });
  };
  model.on("change:positions", positions);
  model.on("change:view", view);
  positions();
  view();
  return () => {
    parts.forEach((part) => part.stop());
    model.off("change:positions", positions);
    model.off("change:view", view);
    if (address) URL.revokeObjectURL(address);
  };
}

export default { render };
