import { operation } from '../../openapi/kube-errors.ts'
import { content, json, type Operation, type Parameter, query, success } from '../../openapi/operation.ts'
import { kubeObject, oneOfTexts, type Schema } from '../../openapi/schema.ts'

export const dryRun = query(
  'dryRun',
  'All: validates the request without storing anything.',
  oneOfTexts(['All']),
)
export const changed = { 200: { description: 'The object was written.', content: json(kubeObject) } }
export const created = { 201: { description: 'The object was created.', content: json(kubeObject) } }

type Write = {
  readonly description?: string
  readonly body?: Schema
  /** Media types of the body. */
  readonly types?: readonly string[]
  readonly responses?: Operation['responses']
  readonly errors?: readonly number[]
}

/** Describes an operation that writes objects. */
export function writeOperation(
  summary: string,
  parameters: readonly Parameter[],
  { body = kubeObject, types = ['application/json'], responses, errors, description }: Write = {},
): Operation {
  return operation(summary, responses ?? { ...changed, ...created }, {
    ...(description === undefined ? {} : { description }),
    parameters: [...parameters, dryRun],
    body: { content: content(types, body) },
    errors: errors ?? [404, 409, 413, 415, 422],
  })
}

export function removeOperation(
  summary: string,
  parameters: readonly Parameter[],
  more: Pick<Operation, 'description'> = {},
): Operation {
  return operation(summary, success, { ...more, parameters: [...parameters, dryRun], errors: [404, 409] })
}
