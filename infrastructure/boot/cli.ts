// `npm run cli -- …`: operators' commands, which run beside the program (rule O1). Exit code 0; 1 if the command found a problem;
// 2 if the command or the environment is wrong.
import './compileCache.ts';

const [{ COMMANDS }, { runCli }] = await Promise.all([import('../cli/commands.ts'), import('../cli/run.ts')]);
process.exit(await runCli(COMMANDS, process.argv.slice(2), process.env, process.stdout, process.stderr));
