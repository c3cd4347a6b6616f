using Microsoft.Extensions.Logging;

namespace HaloPresence;

/// <summary>What the grains log.</summary>
public static class HaloEvents
{
    /// <summary>The grain <c>Key</c> has become active on this silo.</summary>
    public static readonly EventId Activated = new(1, nameof(Activated));

    /// <summary>The grain <c>Key</c> is no longer active on this silo.</summary>
    public static readonly EventId Deactivated = new(2, nameof(Deactivated));
}
