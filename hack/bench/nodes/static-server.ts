import { createServer } from 'node:https'
import { createCa, issueCertificate } from '../../../pkg/certs/issue.ts'

/** A response of the static server, which is the upper limit of a Node.js HTTPS server. */
export type StaticAnswer = {
  readonly path: string
  readonly encoding: string | undefined
  readonly body: Uint8Array
}

// Runs as a separate process. Its parent sends the responses and receives the port.

process.once('disconnect', () => process.exit(0))
process.once('message', (list: readonly StaticAnswer[]) => {
  const answers = new Map(list.map(answer => [answer.path, answer]))
  const authority = createCa({ commonName: 'bench', validityDays: 1 })
  const { certPem, keyPem } = issueCertificate(authority, {
    commonName: 'bench',
    dnsNames: ['localhost'],
    usages: ['server'],
    validityDays: 1,
  })
  const server = createServer({ cert: certPem, key: keyPem }, (req, res) => {
    const answer = answers.get(req.url ?? '')
    if (answer === undefined) {
      res.writeHead(404).end()
      return
    }
    const { body, encoding } = answer
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    res.writeHead(200, { ...headers, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) })
    res.end(body)
  })
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
})
