type Command = readonly [string, ...(string | number)[]]
type Task = {
  readonly task: string
  readonly match: string
  readonly optional?: boolean
  readonly commands: readonly Command[]
}

export type Subject = {
  readonly issuer: string
  readonly username: string
  readonly password: string
}

/** The alias of the configuration, which is part of the redirect URIs. */
export const alias = 'kapis'

/** Returns the clients of the suite for Kapis; only the third gets logout tokens. */
export function clientsOf(suiteUrl: string) {
  const own = `${suiteUrl}/test/a/${alias}`
  const document = (name: string) => ({
    name,
    secret: `the-secret-of-${name}`.padEnd(40, '.'),
    redirectURIs: [`${own}/callback`, `${own}/callback?dummy1=lorem&dummy2=ipsum`],
    postLogoutRedirectURIs: [`${own}/post_logout_redirect`],
  })
  const backchannel = {
    backchannelLogoutURI: `${own}/backchannel_logout`,
    backchannelLogoutSessionRequired: true,
  }
  return [
    document('conformance-1'),
    document('conformance-2'),
    { ...document('conformance-backchannel'), ...backchannel },
  ] as const
}

/**
 * Returns the configuration of a plan. Its `browser` section controls what the browser of the suite
 * does on pages of Kapis. Each command expects the heading of a page, so that a JSON response fails
 * the module.
 */
export function toConfiguration(subject: Subject, suiteUrl: string, plan: string): object {
  const { issuer, username, password } = subject
  const [first, second, backchannel] = clientsOf(suiteUrl)
  const client = credentialsOf(plan.includes('backchannel') ? backchannel : first)
  const tasks: readonly Task[] = [
    {
      ...{ task: 'Log in', match: `${issuer}/login*`, optional: true },
      commands: [
        heading('Log in.*'),
        ['text', 'id', 'username', username],
        ['text', 'id', 'password', password],
        ['click', 'css', 'form > button'],
      ],
    },
    {
      ...{ task: 'Look at the error page', match: `${issuer}/authorize*`, optional: true },
      commands: [heading('Request failed')],
    },
    {
      ...{ task: 'Return to the client', match: `${suiteUrl}/test/*/callback*`, optional: true },
      commands: [['wait', 'id', 'submission_complete', timeoutSeconds]],
    },
  ]
  const logoutTasks: readonly Task[] = [
    {
      ...{ task: 'Confirm', match: `${issuer}/logout*`, optional: true },
      commands: [heading('Log out\\?|Request failed'), ['click', 'css', 'button[value=logout]', 'optional']],
    },
    {
      ...{ task: 'Look at our page', match: `${issuer}/logged-out*`, optional: true },
      commands: [heading('You are logged out')],
    },
  ]
  return {
    alias,
    server: { discoveryUrl: `${issuer}/.well-known/openid-configuration` },
    client,
    client2: credentialsOf(second),
    client_secret_post: client,
    browser: [
      { match: `${issuer}/authorize*`, tasks },
      { match: `${issuer}/logout*`, tasks: logoutTasks },
    ],
  }
}

function credentialsOf({ name, secret }: { readonly name: string; readonly secret: string }) {
  return { client_id: name, client_secret: secret }
}

const timeoutSeconds = 20

/** Returns a command that waits for a heading, and uploads the page if a person must review it. */
function heading(text: string): Command {
  return ['wait', 'css', 'h1', timeoutSeconds, text, 'update-image-placeholder-optional']
}
