import { createHash } from 'node:crypto'
import { badRequest, notFound, Status, unavailable } from '../../apierrors/status.ts'
import { hostCluster } from '../../apirequest/target.ts'
import { createKubeClient, type KubeClient, mergePatch } from '../../kubeclient/client.ts'
import { fieldsOf, type KubeObject, parseObject, textOf } from '../../kubeclient/object/object.ts'
import { secretsPath } from '../../kubeclient/object/secret.ts'
import { byName, Informer } from '../../kubeclient/watch/informer.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { kubeconfigSecretType, readMember } from './member.ts'
import { checkCluster, type Health, ready, statusAfter } from './member-health.ts'
import { createMemberList, type ReadMemberList } from './member-list.ts'
import { createMemberProxy, loopDetected, type MemberProxy, via } from './member-proxy.ts'

export type MemberClustersOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** Namespace of the Secrets with kubeconfigs. */
  readonly namespace: string
  readonly logger: Logger
  readonly checkEveryMs?: number
}

/** A member cluster that serves requests. */
export type MemberCluster = MemberProxy & { readonly list: ReadMemberList }

/** The connection of one version of a Cluster. */
type Connection = {
  /** Changes with every property from which `proxy` is created. */
  readonly key: string
  /** undefined for an invalid Cluster, and for `host`. */
  readonly proxy?: MemberCluster
  readonly check: () => Promise<Health>
  /** Status code of requests while the check fails. */
  readonly code: 501 | 503
  readonly close: () => void
  health?: Health
  isBeingChecked?: boolean
}

const version = 'v1alpha1'
const checkEveryMs = 20_000

/**
 * The member clusters: watches Clusters of cluster.<group domain> and the Secrets with their
 * kubeconfigs, checks each cluster about three times per minute, and writes the result to its
 * status.
 */
export class MemberClusters {
  readonly #options: MemberClustersOptions
  readonly #path: string
  readonly #clusters: Informer<KubeObject>
  readonly #secrets: Informer<KubeObject>
  readonly #connections = new Map<string, Connection>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #uid: string | undefined

  constructor(options: MemberClustersOptions) {
    const { client, groupDomain, namespace, logger } = options
    this.#options = options
    this.#path = `/apis/cluster.${groupDomain}/${version}/clusters`
    const shared = { client, logger, parse: (object: KubeObject) => object }
    this.#clusters = new Informer({
      ...shared,
      path: this.#path,
      what: 'clusters',
      onChange: changes => {
        for (const { key } of changes) this.#connect(key)
      },
    })
    this.#secrets = new Informer({
      ...shared,
      path: secretsPath(namespace),
      query: { fieldSelector: `type=${kubeconfigSecretType(groupDomain)}` },
      key: byName,
      what: 'kubeconfigs of clusters',
      onChange: (changes, isInInitialList) => {
        const all = [...this.#clusters.all()].map(byName)
        for (const key of isInInitialList ? all : changes.map(change => change.key)) this.#connect(key)
      },
    })
  }

  start(): void {
    void this.#clusters.start()
    void this.#secrets.start()
    this.#checkLater()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const informer of [this.#clusters, this.#secrets]) informer.stop()
    for (const { close } of this.#connections.values()) close()
    this.#connections.clear()
  }

  /** Returns the names of the member clusters. @throws Status 503 */
  names(): readonly string[] {
    this.#assertReady()
    return [...this.#connections.keys()].filter(name => name !== hostCluster).sort()
  }

  /**
   * Returns the proxy of a cluster.
   *
   * @throws Status 404 for an unknown cluster, 501 for an unsupported one, 503 for one that is not
   * ready, 508 for this cluster under another name
   */
  find(name: string): MemberCluster {
    this.#assertReady()
    const connection = this.#connections.get(name)
    const where = `the cluster ${JSON.stringify(name)}`
    if (connection === undefined)
      throw notFound({ group: `cluster.${this.#options.groupDomain}`, resource: 'clusters' }, name)
    const { proxy, health, code } = connection
    const failed = health?.conditions.find(({ type, status }) => type === 'Ready' && status === 'False')
    if (failed?.reason === 'SameCluster') throw loopDetected(where)
    if (failed !== undefined || proxy === undefined) {
      const message = `${where} is not ready: ${failed?.message ?? 'it has not been checked yet'}`
      throw code === 503
        ? unavailable(message, undefined, 10)
        : new Status(code, 'ServiceUnavailable', message)
    }
    return proxy
  }

  #assertReady(): void {
    if (!this.#clusters.isReady || !this.#secrets.isReady)
      throw unavailable('the clusters have not been read yet; retry later')
  }

  /** Checks a Cluster with a kubeconfig before its creation. @throws Status 400 with the reason */
  async validate(cluster: unknown): Promise<void> {
    const invalid = (why: string) => badRequest(`invalid cluster: ${why}`)
    const { metadata, spec } = fieldsOf(cluster)
    const name = textOf(fieldsOf(metadata).name)
    const member = readMember(
      { spec, metadata: { name, uid: '', resourceVersion: '', creationTimestamp: '' } },
      undefined,
    )
    if ('reason' in member) throw invalid(member.message)
    const kube = createKubeClient(member.kube)
    try {
      const { conditions, fields } = await checkCluster(
        { kube, otherThan: await this.#uidOfHost(), credential: await member.kube.access() },
        via,
      )
      const failed = conditions.find(({ status }) => status === 'False')
      if (failed !== undefined) throw invalid(failed.message)
      const { uid } = fields
      const same = [...this.#clusters.all()].find(({ status }) => fieldsOf(status).uid === uid)
      if (uid !== undefined && same !== undefined)
        throw invalid(`the cluster is already registered as ${JSON.stringify(same.metadata.name)}`)
    } finally {
      kube.close()
    }
  }

  /** Replaces the connection of a Cluster if spec.connection or the Secret has changed. */
  #connect(name: string): void {
    if (!this.#secrets.isReady || this.#isStopped) return
    const cluster = this.#clusters.get(name)
    const secret = this.#secrets.get(name)
    const old = this.#connections.get(name)
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) {
      this.#connections.delete(name)
      old?.close()
      return
    }
    const fingerprint = JSON.stringify([fieldsOf(cluster.spec).connection, secret?.data])
    const key = createHash('sha256').update(fingerprint).digest('base64')
    if (old?.key === key) return
    old?.close()
    const made = { key, ...(name === hostCluster ? this.#host() : this.#member(cluster, secret)) }
    this.#connections.set(name, made)
    void this.#check(name, made)
  }

  /** Returns the connection of this cluster, which is only checked. */
  #host(): Omit<Connection, 'key'> {
    return {
      code: 503,
      check: () => checkCluster({ kube: this.#options.client }),
      close: () => undefined,
    }
  }

  #member(cluster: KubeObject, secret: KubeObject | undefined): Omit<Connection, 'key'> {
    const member = readMember(cluster, secret)
    if ('reason' in member) {
      const { reason, message, code } = member
      this.#options.logger.warn({ cluster: cluster.metadata.name, why: message }, 'invalid cluster')
      const health = ready('False', reason, message)
      return { code, health, check: async () => health, close: () => undefined }
    }
    const proxy = createMemberProxy(member)
    const kube = createKubeClient(member.kube)
    const kapis = 'problem' in member.kapis ? member.kapis : createKubeClient(member.kapis)
    return {
      proxy: { ...proxy, list: createMemberList(member.name, kapis) },
      code: 503,
      check: async () =>
        checkCluster(
          { kube, kapis, otherThan: await this.#uidOfHost(), credential: await member.kube.access() },
          via,
        ),
      close() {
        proxy.close()
        kube.close()
        if (!('problem' in kapis)) kapis.close()
      },
    }
  }

  async #uidOfHost(): Promise<string | undefined> {
    if (this.#uid === undefined) {
      const { fields } = await checkCluster({ kube: this.#options.client })
      if (typeof fields.uid === 'string') this.#uid = fields.uid
    }
    return this.#uid
  }

  #checkLater(): void {
    const { checkEveryMs: everyMs = checkEveryMs } = this.#options
    const check = async () => {
      await Promise.all([...this.#connections].map(([name, connection]) => this.#check(name, connection)))
      if (!this.#isStopped) this.#checkLater()
    }
    // The jitter prevents all replicas from checking at the same time.
    this.#timer = setTimeout(() => void check(), everyMs * (0.75 + Math.random() / 2))
    this.#timer.unref()
  }

  async #check(name: string, connection: Connection): Promise<void> {
    if (connection.isBeingChecked) return
    connection.isBeingChecked = true
    try {
      connection.health = await connection.check()
      if (this.#connections.get(name) === connection) await this.#write(name, connection.health)
    } catch (err) {
      this.#options.logger.warn({ err, cluster: name }, 'failed to update the status of a cluster')
    } finally {
      connection.isBeingChecked = false
    }
  }

  /** All replicas see the same health and only write differences, so the status does not flap. */
  async #write(name: string, health: Health): Promise<void> {
    const object = this.#clusters.get(name)
    const status = object && statusAfter(object, health, new Date())
    if (status === undefined) return
    const path = `${this.#path}/${name}/status`
    const written = parseObject(await this.#options.client.call(mergePatch(path, { status })))
    // The Cluster may have been deleted in the meantime.
    if (this.#connections.has(name)) this.#clusters.put(written)
  }
}
