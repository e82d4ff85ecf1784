import { X509Certificate } from 'node:crypto'
import type { ServingMaterial } from '../../certs/serving-certificates.ts'
import { gauge, type Registry } from '../../telemetry/metrics.ts'

/** Exports the expiry times of the serving certificate and its CA as metrics, for alerts. */
export function observeCertificates(registry: Registry, current: () => ServingMaterial): void {
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
