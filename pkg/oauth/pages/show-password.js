// A button next to each password field that shows what was typed. Without this script there are the fields alone.
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
  // Browsers keep what was typed into a text field.
  input.form?.addEventListener('submit', () => show(false))
}
