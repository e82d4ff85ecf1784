import { FileCertificates } from '../../certs/file-certificates.ts'
import { ServingCertificates } from '../../certs/serving-certificates.ts'
import type { Config } from '../../config/config.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Registry } from '../../telemetry/metrics.ts'
import { observeCertificates } from '../server/certificate-metrics.ts'

/** Wires the serving certificates, which are read from files or issued by Kapis itself. */
export function createCertificates(parts: {
  readonly client: KubeClient
  readonly config: Config
  readonly logger: Logger
  readonly registry: Registry
}): FileCertificates | ServingCertificates {
  const { client, config, logger, registry } = parts
  const certificates =
    config.tls.certFile === ''
      ? new ServingCertificates({ client, config, logger })
      : new FileCertificates({ files: config.tls, logger })
  observeCertificates(registry, () => certificates.current())
  return certificates
}
