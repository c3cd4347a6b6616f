using Orleans.Internal;

namespace Orleans.Runtime.Providers;

/// <summary>How long an agent waits before it delivers an item again.</summary>
public interface IMessageDeliveryBackoffProvider : IBackoffProvider
{
}

/// <summary>How long an agent waits before it reads a queue again that has failed.</summary>
public interface IQueueReaderBackoffProvider : IBackoffProvider
{
}
