// A prediction question: the answer and its reason are built only once the reader has answered.

import { make, mount, rich } from "./dom.js";

// "1,000", "1 000", "1_000", "1e3" and "24 %" are numbers to a reader.
export function parseNumber(text) {
  const plain = text
    .trim()
    .replace(/[,_\s]/g, "")
    .replace(/%$/, "");
  return plain === "" ? NaN : Number(plain);
}

export const isRight = (given, answer, within) => Math.abs(given - answer) <= within;

const words = (number) => number.toLocaleString("en-GB", { maximumSignificantDigits: 12 });

// What the reader has answered stays in the browser: a page that is loaded again shows it. Where a
// page may keep nothing, the question is asked again.
function memory(question) {
  const { question: text, choices, unit } = question;
  const name = `gpukit: ${JSON.stringify([text, choices ?? unit ?? ""])}`;
  return {
    read() {
      try {
        return localStorage.getItem(name);
      } catch {
        return null;
      }
    },
    keep(answer) {
      try {
        localStorage.setItem(name, answer);
      } catch {
        // asked again
      }
    },
    forget() {
      try {
        localStorage.removeItem(name);
      } catch {
        // nothing was kept
      }
    },
  };
}

function askChoice({ choices, right }, tell, kept) {
  const buttons = choices.map((choice, number) =>
    make(
      "button",
      { type: "button", "data-mark": "○", onclick: () => choose(number) },
      make("span", {}, ...rich(choice)),
    ),
  );
  function choose(number) {
    if (buttons[0].hasAttribute("aria-disabled")) return;
    kept.keep(number);
    buttons[number].dataset.mark = "✗";
    buttons[right].dataset.mark = "✓";
    buttons[right].setAttribute("aria-description", "the right answer");
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
    buttons[number].setAttribute("aria-pressed", "true");
    tell(number === right, [choices[right]]);
  }
  const before = kept.read();
  if (before in buttons) choose(Number(before));
  return make("div", { class: "choices", role: "group", "aria-labelledby": "q" }, ...buttons);
}

// Not a form: JupyterLab stops the event with which the Enter key submits one.
function askNumber({ answer, within, unit }, tell, kept, say) {
  const box = make("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-labelledby": "q",
    id: "number",
    onkeydown: (event) => event.key === "Enter" && submit(),
    oninput: () => say(),
  });
  const button = make("button", { type: "button", onclick: () => submit() }, "Answer");
  function submit() {
    if (box.readOnly) return;
    const given = parseNumber(box.value);
    if (Number.isNaN(given)) return say("Type a number first.");
    kept.keep(box.value);
    box.readOnly = true;
    button.setAttribute("aria-disabled", "true");
    tell(isRight(given, answer, within), [words(answer), unit && ` ${unit}`]);
  }
  box.value = kept.read() ?? "";
  if (box.value) submit();
  return make("div", { class: "number" }, box, ...(unit ? [make("span", {}, unit)] : []), button);
}

export function ask(host, styles, question) {
  const card = mount(host, styles), kept = memory(question);
  function build() {
    const verdict = make("div", { class: "verdict", role: "status" });
    const say = (...parts) =>
      verdict.replaceChildren(...(parts.length ? [make("p", {}, ...parts)] : []));
    const again = () => {
      kept.forget();
      build();
      card.querySelector("button, input").focus();
    };
    const tell = (isTrue, answer) => {
      const grade = isTrue ? "right" : "wrong";
      say(
        make("strong", { "data-grade": grade }, isTrue ? "Right: " : "Not so. It is: "),
        ...answer.flatMap((part) => rich(part)),
        answer.join("").endsWith(".") ? " " : ". ",
        ...rich(question.because),
      );
      verdict.append(make("button", { type: "button", onclick: again }, "Answer again"));
    };
    const kind = question.choices ? askChoice : askNumber;
    const title = make("p", { class: "question", id: "q" }, ...rich(question.question));
    card.replaceChildren(title, kind(question, tell, kept, say), verdict);
  }
  build();
}
