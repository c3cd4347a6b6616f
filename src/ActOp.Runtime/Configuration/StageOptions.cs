using ActOp.Staging;

namespace ActOp.Configuration;

/// <summary>Threads of the stages of a silo or client (paper section 5).</summary>
public sealed class StageOptions
{
    /// <summary>Whose threads run turns and sends: the stages' own (default, the paper's design), or the .NET thread pool, the baseline.</summary>
    public StageMode Mode { get; set; } = StageMode.OwnThreads;

    /// <summary>Threads that read and decode. Default: as many as the cores, the paper's baseline.</summary>
    public int ReceiveThreads { get; set; } = Environment.ProcessorCount;

    /// <summary>Threads that run turns. Default: as many as the cores.</summary>
    public int WorkThreads { get; set; } = Environment.ProcessorCount;

    /// <summary>Threads that write to silos. Default: as many as the cores.</summary>
    public int SiloSendThreads { get; set; } = Environment.ProcessorCount;

    /// <summary>Threads that write to clients. Default: as many as the cores.</summary>
    public int ClientSendThreads { get; set; } = Environment.ProcessorCount;

    /// <summary>Requests that may wait in one mailbox; more are refused with a LimitExceededException. Default 100,000: beyond any burst that could still be answered in time.</summary>
    public int MailboxLimit { get; set; } = 100_000;

    internal void Validate()
    {
        foreach (var (name, value) in new[] { (nameof(ReceiveThreads), ReceiveThreads), (nameof(WorkThreads), WorkThreads), (nameof(SiloSendThreads), SiloSendThreads), (nameof(ClientSendThreads), ClientSendThreads) })
        {
            if (value is < 1 or > 64)
                throw new Orleans.Runtime.OrleansConfigurationException("StageOptions." + name + " must be 1 to 64, but is " + value + ".");
        }

        if (MailboxLimit < 1)
            throw new Orleans.Runtime.OrleansConfigurationException("StageOptions.MailboxLimit must be positive, but is " + MailboxLimit + ".");
    }
}
