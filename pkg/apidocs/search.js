// Shows the operations that contain every search word. Without this script all operations are
// shown.
const box = document.getElementById('search')
const input = document.getElementById('words')
const found = document.getElementById('found')
const operations = [...document.querySelectorAll('details')].map(element => ({
  element,
  text: element.textContent.toLowerCase(),
}))
const sections = [...document.querySelectorAll('section')]

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  let count = 0
  for (const { element, text } of operations) {
    element.hidden = !words.every(word => text.includes(word))
    if (!element.hidden) count++
  }
  for (const section of sections) section.hidden = !section.querySelector('details:not([hidden])')
  found.textContent = words.length === 0 ? '' : `${count} of ${operations.length} operations`
}

/** A link to an operation opens it. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1))
  if (target instanceof HTMLDetailsElement) target.open = true
}

box.hidden = false
input.addEventListener('input', search)
addEventListener('hashchange', openTarget)
addEventListener('keydown', event => {
  if (event.key !== '/' || event.target === input || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  input.focus()
})
openTarget()
