import Connection from '@opensearch-project/opensearch/lib/Connection.js'
import { ConnectionPool } from '@opensearch-project/opensearch/lib/pool/index.js'
import Serializer from '@opensearch-project/opensearch/lib/Serializer.js'
import TransportClass from '@opensearch-project/opensearch/lib/Transport.js'

export type SearchEngine = {
  readonly url: string
  readonly username: string
  /** Of what signs the server's certificate, as PEM; '' for the authorities that Node.js knows. */
  readonly ca: string
}

export type SearchCredentials = { readonly password: string; readonly apiKey: string }

/** The client's transport alone: its entry has a function for each of the five hundred APIs, none of which is called. */
export type Transport = {
  readonly request: InstanceType<typeof TransportClass>['request']
  readonly close: () => Promise<void>
}

/** As the client would make it, of what is set here; what is not is as it is by itself there. */
export function createTransport(engine: SearchEngine, credentials: SearchCredentials): Transport {
  const auth =
    engine.username === '' ? {} : { auth: { username: engine.username, password: credentials.password } }
  // Nobody listens to what the client tells of its calls.
  const emit = () => false
  const connectionPool = new ConnectionPool({
    Connection,
    pingTimeout: 3_000,
    resurrectStrategy: 'ping',
    sniffEnabled: false,
    emit,
    ...(engine.ca === '' ? {} : { ssl: { ca: engine.ca } }),
    ...auth,
  })
  connectionPool.addConnection(engine.url)
  const transport = new TransportClass({
    connectionPool,
    serializer: new Serializer({
      disablePrototypePoisoningProtection: false,
      enableLongNumeralSupport: true,
    }),
    // What is tried again is for whoever asked to say: a batch that is sent twice would be stored twice.
    maxRetries: 0,
    requestTimeout: 30_000,
    sniffOnStart: false,
    sniffOnConnectionFault: false,
    sniffEndpoint: '',
    emit,
    ...(credentials.apiKey === '' ? {} : { headers: { authorization: `ApiKey ${credentials.apiKey}` } }),
    ...auth,
  })
  return {
    request: transport.request.bind(transport),
    close: () => new Promise(resolve => connectionPool.empty(resolve)),
  }
}
