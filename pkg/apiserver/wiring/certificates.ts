import { X509Certificate } from 'node:crypto'
import { FileCertificates } from '../../certs/file-certificates.ts'
import { ServingCertificates, type ServingMaterial } from '../../certs/serving-certificates.ts'
import type { Config } from '../../config/config.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { gauge, type Registry } from '../../telemetry/metrics.ts'

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

/** Exports the expiry times of the serving certificate and its CA as metrics, for alerts. */
function observeCertificates(registry: Registry, current: () => ServingMaterial): void {
  gauge(registry, {
    name: 'kapis_certificate_expiration_timestamp_seconds',
    help: 'Expiry of the certificates in use, as Unix time.',
    labels: ['certificate'],
    collect(metric) {
      const { certPem, bundlePem } = current()
      // The CA in use is the first one in the bundle.
      metric.set({ certificate: 'serving' }, endOf(certPem))
      metric.set({ certificate: 'authority' }, endOf(bundlePem))
    },
  })
}

function endOf(pem: string): number {
  return Math.floor(new X509Certificate(pem).validToDate.getTime() / 1000)
}
