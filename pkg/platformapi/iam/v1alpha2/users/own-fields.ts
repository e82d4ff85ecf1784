import { isDeepStrictEqual } from 'node:util'
import { isStatus, Status } from '../../../../apierrors/status.ts'
import { ownEmailAnnotation } from '../../../../iam/users/user.ts'
import type { UserDraft } from '../../../../iam/users/user-draft.ts'
import { isRecord, type KubeObject } from '../../../../kubeclient/object/object.ts'

/** The fields of spec that users may change in their own User. */
export const ownFields = ['email', 'lang'] as const

/**
 * Checks whether a replacement of the caller's own User changes only fields that users may change
 * themselves.
 *
 * @param before the User as the caller reads it
 * @returns the draft to write; a changed e-mail address gets the annotation that the user has set
 * it. undefined if the change requires permissions
 */
export function toOwnDraft(before: KubeObject, draft: UserDraft, groupDomain: string): UserDraft | undefined {
  const { metadata, spec, status } = before
  const stored: Readonly<Record<string, unknown>> = isRecord(spec) ? spec : {}
  const others = (members: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(members).filter(([key]) => !ownFields.some(own => own === key)))
  const isOwn =
    draft.password === undefined &&
    (draft.state === undefined || draft.state === (isRecord(status) ? status.state : undefined)) &&
    isDeepStrictEqual(draft.labels, { ...metadata.labels }) &&
    isDeepStrictEqual(draft.annotations, { ...metadata.annotations }) &&
    isDeepStrictEqual(others(draft.spec), others(stored))
  if (!isOwn) return undefined
  const mark =
    draft.spec.email === stored.email
      ? {}
      : { [ownEmailAnnotation(`iam.${groupDomain}`)]: String(draft.spec.email) }
  return { ...draft, state: undefined, annotations: { ...draft.annotations, ...mark } }
}

/** @throws the given error; a 403 of kube-apiserver lists what users may change themselves */
export function explainOwnFields(error: unknown): never {
  if (!isStatus(error, 403)) throw error
  const { code, reason, message, details } = error
  const own = 'of your own user you may change spec.email, spec.lang and the password'
  throw new Status(code, reason, `${message}: ${own}`, { details: details ?? {} })
}
