// The sandbox itself over HTTP: settings, the test clock, deliveries at once.
import { httpModule } from '../../kernel/httpModule.ts';
import { advanceClockRoute, flushDeliveriesRoute, getClockRoute } from './sandbox.ts';
import { sandboxSettingsRoute } from './sandboxSettings.ts';
import { SANDBOX } from './tags.ts';

export const sandbox = httpModule({
  name: 'sandbox',
  chapters: [SANDBOX],
  routes: [sandboxSettingsRoute, getClockRoute, advanceClockRoute, flushDeliveriesRoute],
});
