import { badRequest } from '../apierrors/status.ts'

/** A parsed image reference: `registry.example.com/team/app:1.2`, or `…@sha256:…`. */
export type ImageReference = {
  /** Host, with the port unless it is 443. */
  readonly host: string
  readonly repository: string
  /** A tag or a digest; `latest` by default. */
  readonly reference: string
}

const dockerHub = 'registry-1.docker.io'
const hostPattern = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/i
const repositoryPattern =
  /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/
const tagPattern = /^\w[\w.-]{0,127}$/
const digestPattern = /^sha256:[0-9a-f]{64}$/

/**
 * Parses an image name like container runtimes: the default registry is Docker Hub, and its default
 * namespace is `library`.
 *
 * @param parameter name of the query parameter, for the message
 * @throws Status 400
 */
export function parseImageReference(text: string, parameter: string): ImageReference {
  const [named = '', digest] = splitOnce(text, '@')
  const slash = named.indexOf('/')
  const first = slash < 0 ? '' : named.slice(0, slash)
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  const rest = isHost ? named.slice(slash + 1) : named
  const [path = '', tag] = splitOnce(rest, ':')
  const isHub = !isHost || first === 'docker.io' || first === 'index.docker.io'
  const repository = isHub && !path.includes('/') ? `library/${path}` : path
  const host = isHub ? dockerHub : first
  const reference = digest ?? tag ?? 'latest'
  const isSound =
    hostPattern.test(host) &&
    repository.length <= 255 &&
    repositoryPattern.test(repository) &&
    (digest === undefined ? tagPattern.test(reference) : digestPattern.test(reference))
  if (!isSound)
    throw badRequest(
      `${parameter} ${JSON.stringify(text)} is not a valid image name; example: registry.example.com/team/app:1.2`,
    )
  return { host, repository, reference }
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
