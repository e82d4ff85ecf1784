import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect } from 'chai'
import type { HttpResponse } from './cluster.ts'
import { sendAs } from './http.ts'

export type OpenApiOperation = { readonly responses: Readonly<Record<string, { readonly content?: object }>> }
export type OpenApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

export type Documents = {
  readonly byKey: ReadonlyMap<string, OpenApiDocument>
  /** The referenced documents of kube-apiserver, by path. */
  readonly others: ReadonlyMap<string, unknown>
  /** Fails unless the document describes a response of this operation. */
  readonly expectDescribed: (method: string, template: string, response: HttpResponse) => void
}

const base = 'https://kapis'

/** Reads all documents of Kapis in the index, and the referenced documents of kube-apiserver. */
export async function readDocuments(token: string): Promise<Documents> {
  const read = async (path: string) => {
    const response = await sendAs(token, path)
    expect(response.code, `${path}: ${response.body}`).to.equal(200)
    return JSON.parse(response.body)
  }
  const { paths } = await read('/openapi/v3')
  const own = Object.keys(paths).filter(key => /^(kapis|oauth)(\/|$)/.test(key))
  const byKey = new Map<string, OpenApiDocument>()
  // Not strict: schemas of kube-apiserver are OpenAPI 3.0, with keywords that a JSON Schema
  // validator does not know.
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, validateSchema: false })
  formats.default(ajv)
  for (const key of own) {
    const document = await read(paths[key].serverRelativeURL)
    byKey.set(key, document)
    ajv.addSchema(document, `${base}/openapi/v3/${key}`)
  }
  const refs = JSON.stringify([...byKey.values()]).match(/"\/openapi\/v3\/[^"#]+#/g) ?? []
  const others = new Map<string, unknown>()
  for (const path of new Set(refs.map(ref => ref.slice(1, -1)))) {
    const other = await read(path)
    others.set(path, other)
    ajv.addSchema(other, base + path)
  }

  return {
    byKey,
    others,
    expectDescribed(method, template, response) {
      const found = [...byKey].find(([, document]) => document.paths[template]?.[method] !== undefined)
      const what = `${method} ${template} ${response.code}`
      const [key = '', document] = found ?? []
      const described = document?.paths[template]?.[method]?.responses[response.code]
      expect(described, `${what} is not described: ${response.body}`).to.not.equal(undefined)
      // The body of a redirect is for users only and not described.
      const isOnward = response.code >= 300 && response.code < 400
      if ((response.body === '' || isOnward) && described?.content === undefined) return
      const type = String(response.headers['content-type']).split(';')[0] ?? ''
      expect(described?.content, `${what} is described`).to.have.property(type)
      if (type !== 'application/json') return
      const pointer = [
        'paths',
        template,
        method,
        'responses',
        String(response.code),
        'content',
        type,
        'schema',
      ]
      const escaped = pointer.map(part =>
        encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
      )
      const schema = { $ref: `${base}/openapi/v3/${key}#/${escaped.join('/')}` }
      const isValid = ajv.validate(schema, JSON.parse(response.body))
      expect(isValid, `${what}: ${ajv.errorsText()}\n${response.body.slice(0, 1000)}`).to.equal(true)
    },
  }
}
