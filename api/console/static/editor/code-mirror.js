// @ts-check
// CodeMirror, set up for JSON with a schema. It is large, so only `json-editor.js` loads it, late.

import {
  EditorState,
  EditorView,
  HighlightStyle,
  autocompletion,
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  defaultKeymap,
  drawSelection,
  foldGutter,
  foldKeymap,
  highlightActiveLine,
  highlightSelectionMatches,
  history,
  historyKeymap,
  hoverTooltip,
  indentOnInput,
  indentUnit,
  indentWithTab,
  json,
  keymap,
  lineNumbers,
  lintGutter,
  lintKeymap,
  search,
  searchKeymap,
  setDiagnostics,
  startCompletion,
  syntaxHighlighting,
  tags,
} from "../vendored/codemirror.js";
import { propose } from "./completion.js";
import { hover } from "./hover.js";

export { setDiagnostics };

/**
 * @typedef {import("../vendored/codemirror.js").EditorView} View
 * @typedef {import("./schema.js").SchemaReader} SchemaReader
 * @typedef {import("./completion.js").NamesOf} NamesOf
 * @typedef {{
 *   root: ShadowRoot,
 *   parent: HTMLElement,
 *   text: string,
 *   label: string,
 *   isReadOnly: boolean,
 *   schema: () => SchemaReader | null,
 *   namesOf: NamesOf,
 *   onChange: (text: string) => void,
 *   onCursor: (at: number) => void,
 * }} Options
 */

const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)", height: "100%" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "0.85rem", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent-fill) 45%, transparent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--accent-fill)",
  },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionInfo, .cm-hover": { maxWidth: "26rem", padding: "0.4rem 0.6rem" },
  ".cm-completionInfo": { whiteSpace: "pre-line" },
  ".cm-hover p": { margin: "0" },
  ".cm-diagnostic": { borderLeft: "4px solid var(--bad)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--raised)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-fill)", outline: "1px solid var(--accent)" },
});

/**
 * Open an editor. In a shadow tree its styles are adopted style sheets, which the content policy
 * allows; in the page they would be style elements.
 * @param {Options} options
 * @returns {View}
 */
export function openEditor(options) {
  const { schema, namesOf, isReadOnly } = options;
  const changing = isReadOnly
    ? []
    : [
        history(),
        closeBrackets(),
        indentOnInput(),
        autocompletion({ override: [(context) => propose(context, schema(), namesOf)] }),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, indentWithTab]),
      ];
  const state = EditorState.create({
    doc: options.text,
    extensions: [
      lineNumbers(),
      foldGutter(),
      lintGutter(),
      drawSelection(),
      bracketMatching(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      json(),
      indentUnit.of("  "),
      syntaxHighlighting(COLORS),
      THEME,
      ...changing,
      keymap.of([
        { key: "Mod-i", run: startCompletion }, // where the browser has Ctrl+Space
        ...foldKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...defaultKeymap,
      ]),
      hoverTooltip((view, at) => hover(view, at, schema())),
      EditorState.readOnly.of(isReadOnly),
      EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.onChange(update.state.doc.toString());
        if (update.selectionSet) options.onCursor(update.state.selection.main.head);
      }),
    ],
  });
  return new EditorView({ state, parent: options.parent, root: options.root });
}
