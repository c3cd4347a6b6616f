using System.Runtime.CompilerServices;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>
/// How many types a peer may cause to be constructed in this process. Types are never unloaded, so there is a limit for all peers; the
/// share keeps one peer from using up what others need.
/// </summary>
/// <remarks>
/// Clients together may use half of the limit, so that silos have the other half. What a peer has used up is not given back. Any thread;
/// the thread that reads frames of a peer sets <see cref="Current"/> meanwhile. Names that are read without a share (from storage, by the
/// application) are limited by the total only.
/// </remarks>
internal sealed class TypeShare(int limit, bool isClient)
{
    /// <summary>Types constructed for all peers, counted in parts: see <see cref="CountTypes"/>.</summary>
    internal const int MaxParts = 16_384;

    /// <summary>What a method or grain class with new type arguments needs: several types, and tables.</summary>
    internal const int PartsOfInstantiation = 4;

    [ThreadStatic]
    private static TypeShare? t_current;

    private static int s_parts;
    private static int s_partsOfClients;

    /// <summary>Searches for the names of exceptions: 50 ms for all of a peer.</summary>
    internal const int MaxSearches = 1024;

    private int _parts;
    private int _searches;

    /// <summary>The share of the peer whose frames this thread reads.</summary>
    internal static TypeShare? Current
    {
        get => t_current;
        set => t_current = value;
    }

    /// <summary>True while this thread reads what a client has sent.</summary>
    internal static bool IsOfClient => t_current is { IsClient: true };

    private bool IsClient => isClient;

    /// <summary>Parts used so far, for tests.</summary>
    internal int Used => Volatile.Read(ref _parts);

    /// <summary>Counts types before they are constructed.</summary>
    /// <exception cref="SerializerException">The peer, or all peers together, have no more.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void CountTypes(int parts)
    {
        if (t_current is { } share)
            share.TakeOwn(parts);
        if (Interlocked.Add(ref s_parts, parts) <= MaxParts)
            return;
        Interlocked.Add(ref s_parts, -parts);
        throw new SerializerException("Peers have named more than " + MaxParts + " constructed types.");
    }

    /// <summary>Counts a search for a name in the loaded assemblies; false if the peer has caused too many.</summary>
    internal static bool TryTakeSearch() => t_current is not { } share || Interlocked.Increment(ref share._searches) <= MaxSearches;

    private void TakeOwn(int parts)
    {
        if (Interlocked.Add(ref _parts, parts) > limit)
        {
            Interlocked.Add(ref _parts, -parts);
            throw new SerializerException("This peer has named more than " + limit + " constructed types that were new to the process.");
        }

        if (!isClient || Interlocked.Add(ref s_partsOfClients, parts) <= MaxParts / 2)
            return;
        Interlocked.Add(ref s_partsOfClients, -parts);
        throw new SerializerException("Clients have named more than " + (MaxParts / 2) + " constructed types.");
    }
}
