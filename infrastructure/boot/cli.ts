// `npm run cli -- …`: what an operator does beside the running program (rule O1). Exit code 0, 1 when something was found wrong,
// 2 when the command or the environment is.
import './compileCache.ts';

const [{ COMMANDS }, { runCli }] = await Promise.all([import('../cli/commands.ts'), import('../cli/run.ts')]);
process.exit(await runCli(COMMANDS, process.argv.slice(2), process.env, process.stdout, process.stderr));
