/** Text that is already HTML; all other values are escaped. */
export type Html = { readonly text: string }

type TemplateValue = Html | string | number | undefined | readonly Html[]

/** HTML: html`<p>${name}</p>`. Values are escaped; undefined becomes ''. */
export function html(strings: TemplateStringsArray, ...parts: readonly TemplateValue[]): Html {
  return { text: strings.map((text, i) => text + render(parts[i])).join('') }
}

function render(part: TemplateValue): string {
  if (part === undefined) return ''
  if (typeof part !== 'object') return escapeHtml(String(part))
  return 'text' in part ? part.text : part.map(render).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes a text for use in HTML text and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? '')
}
