/** A program of the sample cluster whose log is shipped like that of a container. */
export type LogSource = {
  readonly file: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

export type LineReader = (chunk: string, now: Date) => readonly string[]

const rfc3339 = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/
// klog: level, month and day, time of day in the time zone of the machine.
const klog = /^[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})/

/**
 * Converts text that was appended to a log file into documents like those of the Kubernetes filter
 * of Fluent Bit, one JSON text per complete line. The time is that of the line, otherwise the
 * current time.
 */
export function createLineReader(source: LogSource): LineReader {
  const { namespace, pod, container } = source
  const kubernetes = {
    namespace_name: namespace,
    pod_name: pod,
    container_name: container,
    host: 'control-plane-0',
    docker_id: `${pod}-${container}`,
    labels: { 'app.kubernetes.io/name': container },
  }
  let rest = ''
  return (chunk, now) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    return lines
      .filter(line => line !== '')
      .map(line => JSON.stringify({ time: timeOf(line, now), log: `${line}\n`, kubernetes }))
  }
}

function timeOf(line: string, now: Date): string {
  const written = rfc3339.exec(line.slice(0, 200))?.[0]
  if (written !== undefined) return written
  const [, month, day, hour, minute, second, micros] = klog.exec(line) ?? []
  if (micros === undefined) return now.toISOString()
  const time = new Date(
    now.getFullYear(),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  return `${time.toISOString().slice(0, 19)}.${micros}Z`
}
