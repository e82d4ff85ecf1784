// Elements of the pages.

export const byId = id => document.getElementById(id)

/** Creates an element with text, which is never parsed as HTML. */
export function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

/** @param label for screen readers, if the text alone is not sufficient */
export function button(text, onClick, label) {
  const made = element('button', 'plain', text)
  made.type = 'button'
  if (label) made.setAttribute('aria-label', label)
  made.addEventListener('click', onClick)
  return made
}
