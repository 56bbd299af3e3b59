// CLI commands of the analysts' door.
export { analyticsCommands as commands } from '../cli/analytics.ts';
