// RFC 9110 sections 5.6.2 and 5.5; bytes above ASCII pass as latin1.
const token = /^[!#$%&'*+\-.^_`|~\w]+$/
const notInValue = /[^\t\x20-\x7e\x80-\xff]/

export function isHeaderName(name: string): boolean {
  return token.test(name)
}

/** Whether a value ends neither its line nor the head: a line feed in it would begin a header of its own. */
export function isHeaderValue(value: string): boolean {
  return !notInValue.test(value)
}
