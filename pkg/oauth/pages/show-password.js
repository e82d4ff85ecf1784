// Adds a button to each password field that shows the typed text. Without JavaScript the page only
// has the fields.
for (const input of document.querySelectorAll('input[type=password]')) {
  const label = input.labels?.[0]
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'second'
  button.setAttribute('aria-controls', input.id)
  if (label) {
    label.id ||= `${input.id}-label`
    button.setAttribute('aria-describedby', label.id)
  }
  const show = isShown => {
    input.type = isShown ? 'text' : 'password'
    button.textContent = isShown ? 'Hide' : 'Show'
    button.setAttribute('aria-pressed', String(isShown))
  }
  show(false)
  input.after(button)
  button.addEventListener('click', () => show(input.type === 'password'))
  // Hidden before the form is sent: browsers store the input of text fields.
  input.form?.addEventListener('submit', () => show(false))
}
