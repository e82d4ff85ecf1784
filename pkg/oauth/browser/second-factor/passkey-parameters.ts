import { parsePasskeyName } from '../../../iam/factors/passkey.ts'
import { parseAssertion, parseRegistration } from '../../../iam/factors/passkey-response.ts'
import { invalidRequest } from '../../server/error.ts'
import { type Form, requireParameter } from '../../server/form.ts'

/** @throws Status invalid_request */
export function readPasskeyName(form: Form): string {
  const name = parsePasskeyName(requireParameter(form, 'name'))
  if (name !== undefined) return name
  throw invalidRequest('invalid name; expected 1 to 64 characters, and no control characters')
}

/** A new passkey. @throws Status invalid_request */
export function readRegistration(form: Form) {
  return parseRegistration(requireParameter(form, 'passkey')) ?? rejectPasskey()
}

/** The use of a passkey. @throws Status invalid_request */
export function readAssertion(form: Form) {
  return parseAssertion(requireParameter(form, 'passkey')) ?? rejectPasskey()
}

function rejectPasskey(): never {
  throw invalidRequest(
    'invalid passkey; expected the JSON of a PublicKeyCredential (Web Authentication section 5.1)',
  )
}
