namespace ActOp.Configuration;

internal sealed class ConnectionLimitOptions
{
    internal long MaxWaitingBytesPerNode { get; init; } = 100;

    internal long MaxWaitingBytes { get; init; } = 100;
}
