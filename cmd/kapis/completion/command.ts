import { parseArgs } from 'node:util'
import { type Command, UsageError } from '../command.ts'
import { scripts } from './scripts.ts'

export const completion: Command = {
  usage: `bash | zsh | fish

Prints a script that completes commands, options, logins and file names in a shell.
`,
  examples: `
  source <(kapis completion bash)                                        # in ~/.bashrc
  source <(kapis completion zsh)                                         # in ~/.zshrc, after compinit
  kapis completion fish > ~/.config/fish/completions/kapis.fish
`,
  complete: words => (words.length === 0 ? Object.keys(scripts) : []),
  async run(args, io) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} })
    const [shell = '', ...more] = positionals
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined || more.length > 0)
      throw new UsageError(
        `invalid shell ${JSON.stringify(shell)}; supported: ${Object.keys(scripts).join(', ')}`,
      )
    io.out(script)
    return 0
  },
}
