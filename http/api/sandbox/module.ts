// The HTTP module for the sandbox itself: settings, the test clock and webhook deliveries.
import type { DeclaredSettings } from '../../../domain/kernel/accountSetting.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import { advanceClockRoute, flushDeliveriesRoute, getClockRoute, sandboxSettingsRoute } from './sandbox.ts';
import { SANDBOX } from './sandboxSchema.ts';

export const sandbox = (declared: DeclaredSettings) =>
  httpModule({
    name: 'sandbox',
    chapters: [SANDBOX],
    routes: [sandboxSettingsRoute(declared), getClockRoute, advanceClockRoute, flushDeliveriesRoute],
  });
