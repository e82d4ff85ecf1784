import type { Method, Operation } from './operation.ts'

/** Returns a curl command for an operation, with placeholders in capitals. */
export function toCurl(method: Method, path: string, { parameters = [], body, security }: Operation): string {
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const required = parameters.filter(({ in: place, required: isRequired }) => place === 'query' && isRequired)
  const query = required.map(({ name }) => `${name}=${name.toUpperCase()}`).join('&')
  const type = Object.keys(body?.content ?? {})[0]
  const isForm = type === 'application/x-www-form-urlencoded'
  const words = [
    'curl --cacert "$KAPIS_CA"',
    method === 'get' || (method === 'post' && isForm) ? '' : `-X ${method.toUpperCase()}`,
    security.includes('bearer') ? '-H "Authorization: Bearer $TOKEN"' : '',
    security.includes('client') ? '-u "$KAPIS_CLIENT_ID:$KAPIS_CLIENT_SECRET"' : '',
    type === undefined || isForm ? '' : `-H 'Content-Type: ${type}'`,
    type === undefined ? '' : isForm ? formText(body?.content[type]?.schema) : '--data-binary @FILE',
    `"$KAPIS_URL${target}${query === '' ? '' : `?${query}`}"`,
  ]
  return words.filter(word => word !== '').join(' ')
}

function formText(schema: Readonly<Record<string, unknown>> | undefined): string {
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : []
  return required.map(name => `-d ${name}=${String(name).toUpperCase()}`).join(' ') || "-d ''"
}
