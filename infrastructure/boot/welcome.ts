// What a start prints (rule S2).

import type { DemoAccount } from '../demo/demoAccount.ts';
import type { Config } from './config.ts';

export const welcome = ({ publicUrl }: Config, demo: DemoAccount | null, demoPath: string): string => {
  if (demo === null)
    return `Quita is ready at ${publicUrl}\nMake an account with: npm run cli -- account create --name "My shop" --email me@example.com\n`;
  return `Quita is ready at ${publicUrl}
The documentation is at ${publicUrl}/docs
The demo account is in ${demoPath}
Create a Pix charge:

  curl -s ${publicUrl}/v1/charges -H 'apikey: ${demo.testApiKey}' -H "Idempotency-Key: first-$(date +%s)" \\
    -H 'content-type: application/json' -d '{"amount": 12345, "payment_method": "pix", "description": "Order 1001"}'

`;
};
