// The parts of undici that are imported without its entry, which is what would add `request` and its like to every Pool.

declare module 'undici/lib/dispatcher/pool.js' {
  import type { Dispatcher, Pool } from 'undici'

  class BarePool {
    constructor(origin: string, options?: Pool.Options)
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean
    close(): Promise<void>
    destroy(): Promise<void>
  }
  export = BarePool
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'

  function request(
    this: Pick<Dispatcher, 'dispatch'>,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>
  export = request
}
