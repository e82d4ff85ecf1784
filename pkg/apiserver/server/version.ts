export type BuildInfo = { readonly version: string; readonly commit: string }

/** Returns version.Info of k8s.io/apimachinery; goVersion is the version of Node.js. */
export function toVersionInfo({ version, commit }: BuildInfo): object {
  const [major = '0', minor = '0'] = version.split('.')
  return {
    major,
    minor,
    gitVersion: `v${version}`,
    gitCommit: commit,
    gitTreeState: 'clean',
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch}`,
  }
}
