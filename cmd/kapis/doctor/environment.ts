import { lookup } from 'node:dns/promises'
import { type Check, error, type Finding, type Installation, warning } from './check.ts'

const skewMs = 5_000

/** Checks the clocks and host names that tokens, certificates and logins depend on. */
export const environment: Check = {
  name: 'environment',
  examine: async installation => [...(await clock(installation)), ...(await names(installation))],
}

async function clock({ client, nowMs }: Installation): Promise<readonly Finding[]> {
  const began = performance.now()
  let date = Number.NaN
  await client.call({
    path: '/version',
    onResponse: (_code, headers) => {
      date = Date.parse(String(headers.date ?? ''))
    },
  })
  // The duration of the request is added to the local time.
  const difference = Math.abs(date - (nowMs + (performance.now() - began)))
  if (Number.isNaN(date) || difference < skewMs) return []
  const problem = `the clocks of this machine and of kube-apiserver differ by ${Math.round(difference / 1000)} s`
  const fix =
    'synchronize both clocks (chrony, systemd-timesyncd): the validity of tokens and certificates depends on them'
  return [difference > 60_000 ? error(problem, fix) : warning(problem, fix)]
}

async function names({ config }: Installation): Promise<readonly Finding[]> {
  if (config === undefined) return []
  const { hostname } = new URL(config.oauth.issuer)
  try {
    await lookup(hostname)
    return []
  } catch {
    const fix = `add ${hostname} to DNS, or set oauth.issuer to a name that resolves: kube-apiserver fetches the keys from it, and users log in at it`
    return [warning(`the host name of oauth.issuer, ${hostname}, does not resolve on this machine`, fix)]
  }
}
