// The parts of the client that are imported without its entry (see transport.ts).

declare module '@opensearch-project/opensearch/lib/Connection.js' {
  import { Connection } from '@opensearch-project/opensearch'
  export = Connection
}

declare module '@opensearch-project/opensearch/lib/Serializer.js' {
  import { Serializer } from '@opensearch-project/opensearch'
  export = Serializer
}

declare module '@opensearch-project/opensearch/lib/Transport.js' {
  import { Transport } from '@opensearch-project/opensearch'
  export = Transport
}

declare module '@opensearch-project/opensearch/lib/errors.js' {
  import { errors } from '@opensearch-project/opensearch'
  export import ConnectionError = errors.ConnectionError
  export import NoLivingConnectionsError = errors.NoLivingConnectionsError
  export import ResponseError = errors.ResponseError
  export import TimeoutError = errors.TimeoutError
}

declare module '@opensearch-project/opensearch/lib/pool/index.js' {
  export { ConnectionPool } from '@opensearch-project/opensearch'
}
