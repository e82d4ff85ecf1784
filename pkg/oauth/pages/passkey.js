// Creates or uses a passkey (Web Authentication) when a form is submitted, and submits the response of the browser. In a
// browser without passkeys the forms stay hidden.
const { PublicKeyCredential } = globalThis
const ceremonies = {
  create: options =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  get: options =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
}
const problems = {
  NotAllowedError: 'No passkey was used: this was cancelled, took too long, or there is none on this device.',
  InvalidStateError: 'This device has a passkey of yours already.',
  SecurityError: 'Passkeys cannot be used at this address of the platform.',
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!PublicKeyCredential?.parseRequestOptionsFromJSON) break
  const button = form.querySelector('button')
  const error = form.querySelector('.error')
  for (const part of document.querySelectorAll('[data-with-passkeys]')) part.hidden = false
  for (const part of document.querySelectorAll('[data-without-passkeys]')) part.hidden = true
  if (form.dataset.passkey === 'get') button.focus()
  form.addEventListener('submit', async event => {
    event.preventDefault()
    button.disabled = true
    error.hidden = true
    try {
      const credential = await ceremonies[form.dataset.passkey](JSON.parse(form.dataset.options))
      form.elements.passkey.value = JSON.stringify(credential)
      form.submit()
    } catch ({ name, message }) {
      error.textContent = problems[name] ?? `The browser could not use a passkey (${name}: ${message}).`
      error.hidden = false
      button.disabled = false
    }
  })
}
