import { orUndefined } from '../../apierrors/status.ts'
import type { FileCertificates } from '../../certs/file-certificates.ts'
import type { ServingCertificates } from '../../certs/serving-certificates.ts'
import type { Config } from '../../config/config.ts'
import {
  type ApiServiceReconciler,
  createApiServiceReconciler,
} from '../../extensionapi/registration/api-service-reconciler.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { fieldsOf } from '../../kubeclient/object/object.ts'
import type { Logger } from '../../telemetry/logger.ts'

export type RegistrationOptions = {
  readonly client: KubeClient
  readonly config: Config
  readonly certificates: FileCertificates | ServingCertificates
  readonly logger: Logger
}

/** Registers the APIService of Kapis at kube-apiserver, with the CA of the serving certificate. */
export function createRegistration({
  client,
  config,
  certificates,
  logger,
}: RegistrationOptions): ApiServiceReconciler {
  const service = {
    name: config.service.name,
    namespace: config.kubernetes.namespace,
    port: config.service.port,
  }
  const keeper = createApiServiceReconciler({
    client,
    groupDomain: config.groupDomain,
    service,
    caBundle: () => certificates.current().bundlePem,
    // Kapis publishes its own CA before signing with it. A CA from files may not be in caBundle yet
    // at all replicas.
    keepOthersMs: config.tls.certFile === '' ? 0 : config.tls.rolloverSeconds * 1_000,
    // `helm uninstall` does not delete the namespace, so the Service is checked too.
    async isTerminating() {
      const path = `/api/v1/namespaces/${service.namespace}`
      return (await isTerminating(client, path)) || isTerminating(client, `${path}/services/${service.name}`)
    },
    logger,
  })
  certificates.onChange(() => keeper.caChanged())
  return keeper
}

/** Returns whether an object is being deleted or does not exist. @throws Status */
async function isTerminating(client: KubeClient, path: string): Promise<boolean> {
  const object = await orUndefined(client.call({ path }), 404)
  return object === undefined || fieldsOf(fieldsOf(object).metadata).deletionTimestamp !== undefined
}
