// Responses of what is done with one payment, and asked of it (contract.md Payments; rules W7, W8).
import { PUBLIC_STATUS_OF } from '../../../domain/presentation/status.ts';
import { boolean, exactly, orNull, string } from '../../kernel/jsonSchema.ts';

const transactionStatus = { type: 'string', enum: Object.keys(PUBLIC_STATUS_OF) } as const;
const maybeText = orNull(string());

export const resendSchema = exactly({ resent: boolean, status: transactionStatus });

export const providerStatusSchema = exactly(
  {
    localStatus: transactionStatus,
    provider: maybeText,
    providerTransactionId: maybeText,
    providerStatus: maybeText,
    rawResponse: { description: 'As the provider gave it.' },
    error: { type: 'string', enum: ['TRANSACTION_HAS_NO_PROVIDER_REFERENCE'] },
  },
  ['error'],
);

export const receiptSchema = exactly({
  contentType: { type: 'string', enum: ['application/pdf'] },
  base64: string(undefined, { description: 'The PDF.' }),
});

export const overrideSecretSchema = exactly({ secret: { type: 'string', pattern: '^[0-9a-f]{64}$' } });
