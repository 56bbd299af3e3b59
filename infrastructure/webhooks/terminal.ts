// CLI commands of webhooks.
import { deliveryCommands } from '../cli/deliveries.ts';
import { redriveCommand } from '../cli/redrive.ts';

export const commands = [...deliveryCommands, redriveCommand];
