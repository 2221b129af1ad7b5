// @ts-check
// A field of a form: its label, its input, its hint and its error.

import { html, live, nothing } from "../vendored/lit.js";

/**
 * @typedef {import("./values.js").Field} Field
 * @typedef {import("./values.js").Values} Values
 */

/**
 * Draw a field with its label, its hint and its error.
 * @param {Field} field
 * @param {Values} typed
 * @param {string} prefix of the ids on the page
 * @param {string} error
 * @param {(name: string, value: any) => void} onInput
 */
export function renderField(field, typed, prefix, error, onInput) {
  if (field.shown && !field.shown(typed)) return nothing;
  const id = `${prefix}-${field.name}`;
  const notes = [field.hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  const input = renderInput(field, typed[field.name], id, notes, error, onInput);
  const hint = field.hint ? html`<p class="hint" id="${id}-hint">${field.hint}</p>` : nothing;
  const said = error ? html`<p class="bad field-error" id="${id}-error">${error}</p>` : nothing;
  if (field.type === "choices") return html`<div class="field">${input}${hint}${said}</div>`;
  if (field.type === "checkbox") {
    return html`<div class="field"><label class="inline">${input}${field.label}</label>${hint}${said}</div>`;
  }
  if (field.type === "json") {
    return html`<div class="field"><span class="label" aria-hidden="true">${field.label}</span>${input}${hint}${said}</div>`;
  }
  return html`
    <div class="field">
      <label for=${id}>${field.label}${field.required ? html`<span class="visually-hidden"> (required)</span>` : nothing}</label>
      ${input}${hint}${said}
    </div>
  `;
}

/**
 * @param {Field} field
 * @param {any} typed
 * @param {string} id
 * @param {string} notes
 * @param {string} error
 * @param {(name: string, value: any) => void} onInput
 */
function renderInput(field, typed, id, notes, error, onInput) {
  const described = notes || nothing;
  const invalid = error ? "true" : nothing;
  const isRequired = Boolean(field.required);
  /** @param {Event} event */
  const changed = (event) => onInput(field.name, /** @type {HTMLInputElement} */ (event.target).value);
  switch (field.type) {
    case "select":
      return html`<select id=${id} name=${field.name} aria-describedby=${described} aria-invalid=${invalid}
        ?disabled=${field.fixed} ?required=${isRequired} @change=${changed}>
        ${(field.options ?? []).map(
          (each) => html`<option value=${each.value} .selected=${live(each.value === (typed ?? ""))}>${each.label}</option>`,
        )}
      </select>`;
    case "json": // its component is loaded by the pages that have such a field
      return html`<json-editor label=${field.label} .value=${typed ?? ""} .schema=${field.schema ?? null}
        @change=${(/** @type {CustomEvent} */ event) => onInput(field.name, event.detail.value)}></json-editor>`;
    case "list":
    case "textarea":
      return html`<textarea id=${id} name=${field.name} rows=${field.rows ?? 3} maxlength=${field.maxLength ?? nothing}
        aria-describedby=${described} aria-invalid=${invalid} ?required=${isRequired} ?readonly=${field.fixed}
        placeholder=${field.placeholder ?? nothing} spellcheck="false" .value=${live(typed ?? "")} @input=${changed}></textarea>`;
    case "checkbox":
      return html`<input type="checkbox" id=${id} name=${field.name} aria-describedby=${described} ?disabled=${field.fixed}
        .checked=${live(Boolean(typed))} @change=${(/** @type {Event} */ event) =>
          onInput(field.name, /** @type {HTMLInputElement} */ (event.target).checked)} />`;
    case "choices":
      return renderChoices(field, typed ?? [], notes, onInput);
    case "file":
      return html`<input type="file" id=${id} name=${field.name} accept=${field.accept ?? nothing}
        aria-describedby=${described} aria-invalid=${invalid} ?required=${isRequired} @change=${(/** @type {Event} */ event) =>
          onInput(field.name, /** @type {HTMLInputElement} */ (event.target).files?.[0] ?? null)} />`;
    default:
      return html`<input type=${field.type === "datetime" ? "datetime-local" : (field.type ?? "text")} id=${id} name=${field.name}
        aria-describedby=${described} aria-invalid=${invalid} ?required=${isRequired} ?readonly=${field.fixed}
        min=${field.min ?? nothing} max=${field.max ?? nothing} step=${field.step ?? nothing}
        maxlength=${field.maxLength ?? nothing} placeholder=${field.placeholder ?? nothing}
        autocomplete=${field.autocomplete ?? "off"} spellcheck="false" .value=${live(typed ?? "")} @input=${changed} />`;
  }
}

/**
 * @param {Field} field
 * @param {string[]} chosen
 * @param {string} notes
 * @param {(name: string, value: any) => void} onInput
 */
function renderChoices(field, chosen, notes, onInput) {
  /**
   * @param {string} value
   * @param {boolean} isChosen
   */
  const choose = (value, isChosen) =>
    onInput(field.name, isChosen ? [...chosen, value] : chosen.filter((each) => each !== value));
  return html`
    <fieldset aria-describedby=${notes || nothing}>
      <legend>${field.label}</legend>
      ${(field.options ?? []).map(
        (each) => html`<label class="inline">
          <input type="checkbox" value=${each.value} .checked=${live(chosen.includes(each.value))}
            @change=${(/** @type {Event} */ event) =>
              choose(each.value, /** @type {HTMLInputElement} */ (event.target).checked)} />
          <span>${each.label}${each.hint ? html` <span class="hint">${each.hint}</span>` : nothing}</span>
        </label>`,
      )}
    </fieldset>
  `;
}
