// Requests of the pages to the API, the login, and errors.
import { byId, element } from './elements.js'

const wentToLogIn = 'went-to-log-in'

/** An error whose message is for the user. */
export class Failure extends Error {}

/** @throws Failure without a response, or for one that is not 2xx */
export async function request(path, signal) {
  const response = await fetch(path, { signal, headers: { accept: 'application/json, */*;q=0.8' } }).catch(error => {
    if (error.name === 'AbortError') throw error
    throw new Failure('The server cannot be reached. Try again when the connection is back.')
  })
  if (response.status === 401) {
    logIn()
    throw new Failure('You are not logged in.')
  }
  if (!response.ok) {
    const status = await response.json().catch(() => ({}))
    throw new Failure(`${status.message ?? 'The server gave no reason.'} (${response.status})`)
  }
  sessionStorage.removeItem(wentToLogIn)
  return response
}

/** Redirects to the login once. If that did not help, shows a link to it. */
function logIn() {
  const query = { page: location.pathname.slice('/logs/'.length), return_to: location.search.slice(1) }
  const path = `/logs/login?${new URLSearchParams(query)}`
  if (sessionStorage.getItem(wentToLogIn) === null) {
    sessionStorage.setItem(wentToLogIn, 'yes')
    location.assign(path)
    return
  }
  sessionStorage.removeItem(wentToLogIn)
  const link = element('a', 'button', 'Log in')
  link.href = path
  byId('total').replaceChildren('You are not logged in. ', link)
}

export function showError(message) {
  byId('error').textContent = message
  byId('error').hidden = message === ''
}

export function report(error) {
  if (error.name !== 'AbortError') showError(error instanceof Failure ? error.message : `This page failed: ${error.message}`)
}
