import {
  apiServiceName,
  apiServicesPath,
  describeService,
  isOurs,
} from '../../../pkg/extensionapi/registration/api-service.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../../pkg/kubeclient/object/object.ts'
import { apply, type Check, error, type Finding, type Installation, openPort, read } from './check.ts'

/** Checks the APIService, and the conditions that kube-apiserver reports for it. */
export const apiService: Check = {
  name: 'apiservice',
  async examine(installation) {
    const { client, groupDomain } = installation
    const name = apiServiceName(groupDomain)
    const found = await read(client, `${apiServicesPath}/${name}`)
    if (found === undefined) {
      return [
        error(`the APIService ${name} is missing: kubectl cannot discover the aggregated resources`, apply),
      ]
    }
    if (!isOurs(found, { ...installation.service, namespace: installation.namespace })) {
      const fix = `unless another server must serve this API group: kubectl delete apiservice ${name}; Kapis then registers itself again`
      return [error(`the APIService ${name} belongs to ${describeService(found)}`, fix)]
    }
    const { service, insecureSkipTLSVerify } = fieldsOf(found.spec)
    const { name: serviceName, namespace, port = 443 } = fieldsOf(service)
    const findings: Finding[] = []
    if (
      serviceName !== installation.service.name ||
      namespace !== installation.namespace ||
      port !== installation.service.port
    ) {
      const expected = `${installation.namespace}/${installation.service.name}:${installation.service.port}`
      findings.push(
        error(
          `the APIService ${name} points at ${namespace}/${serviceName}:${port}, not at ${expected}`,
          installation.config === undefined
            ? `${apply}; or name the Service: --service ${serviceName}:${port}`
            : apply,
        ),
      )
    }
    if (insecureSkipTLSVerify === true) {
      const fix = `kubectl patch apiservice ${name} --type=json -p '[{"op":"remove","path":"/spec/insecureSkipTLSVerify"}]'; Kapis fills in caBundle`
      findings.push(error(`kube-apiserver does not verify the serving certificate of ${name}`, fix))
    }
    return [...findings, ...unavailable(name, found, installation)]
  },
}

function unavailable(name: string, found: KubeObject, installation: Installation): readonly Finding[] {
  const conditions = itemsOf(fieldsOf(found.status).conditions).map(fieldsOf)
  const condition = conditions.find(({ type }) => type === 'Available')
  if (condition?.status === 'True') return []
  const reason = textOf(condition?.reason) || 'it has no Available condition yet'
  const message = textOf(condition?.message)
  return [
    error(
      `the APIService ${name} is not available: ${reason}: ${message}`,
      fixOf(reason, message, installation),
    ),
  ]
}

/** Returns the fix for a condition, by the reason and message of kube-apiserver. */
function fixOf(reason: string, message: string, installation: Installation): string {
  const { namespace, service } = installation
  const inNamespace = `kubectl -n ${namespace}`
  if (reason === 'ServiceNotFound') return `create the Service ${namespace}/${service.name}: ${apply}`
  if (reason === 'ServicePortError')
    return `add port ${service.port} to the Service ${namespace}/${service.name}: ${apply}`
  if (reason === 'EndpointsNotFound' || reason === 'MissingEndpoints')
    return `check why no Pod is ready: ${inNamespace} get pods; ${inNamespace} describe pods`
  if (/x509|certificate|tls:/.test(message))
    return `caBundle does not contain the CA of the serving certificate: ${inNamespace} rollout restart deployment kapis, which rewrites it`
  if (/\b40[13]\b|Unauthorized|Forbidden/i.test(message))
    return 'Kapis does not accept the front-proxy certificate of kube-apiserver: --proxy-client-cert-file must be issued by --requestheader-client-ca-file, with a common name of --requestheader-allowed-names, and Kapis must be able to read the ConfigMap extension-apiserver-authentication'
  if (/refused|no route|timeout|deadline|context canceled|i\/o/i.test(message)) return openPort(installation)
  if (/no response|50[0-9]\b/.test(message))
    return `read the log of kapis-apiserver: ${inNamespace} logs deployment/kapis -c apiserver`
  return `kubectl describe apiservice; ${inNamespace} logs deployment/kapis -c apiserver`
}
