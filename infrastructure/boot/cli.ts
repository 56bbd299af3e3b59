// `npm run cli -- …`: operators' commands, which run beside the program (rule O1). Exit code 0; 1 if the command found a problem;
// 2 if the command or the environment is wrong.
import './compileCache.ts';

const [{ COMMANDS }, { runCli }, { exitWhenWritten }] = await Promise.all([
  import('../cli/commands.ts'),
  import('../cli/run.ts'),
  import('../cli/exitWhenWritten.ts'),
]);
const { stdout, stderr } = process;
await exitWhenWritten(await runCli(COMMANDS, process.argv.slice(2), process.env, stdout, stderr), [stdout, stderr]);
