using System.Net;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh;

/// <summary>Every log line of the mesh. Ids 1000 to 1099.</summary>
internal static partial class MeshLog
{
    // The runtime logs for which node a session began and ended.
    [LoggerMessage(1001, LogLevel.Debug, "Connected to {Kind} {Peer} by session {Session} with {Links} data links, {Direction}")]
    public static partial void PeerConnected(this ILogger logger, NodeKind kind, string peer, ulong session, int links, string direction);

    [LoggerMessage(1002, LogLevel.Debug, "Disconnected from {Peer}, session {Session}: {Reason}")]
    public static partial void PeerDisconnected(this ILogger logger, string peer, ulong session, DisconnectReason reason);

    [LoggerMessage(1003, LogLevel.Warning, "Handshake with {RemoteEndPoint} refused: {Reason}")]
    public static partial void LinkRefused(this ILogger logger, EndPoint? remoteEndPoint, DisconnectReason reason);

    [LoggerMessage(1004, LogLevel.Warning, "Dial {Failures} of {Peer} failed: {Reason}; next in {Delay}")]
    public static partial void DialFailed(this ILogger logger, string peer, int failures, DisconnectReason reason, TimeSpan? delay);

    [LoggerMessage(1005, LogLevel.Warning, "Link {Channel} {Index} of {Peer} broke: {Reason}")]
    public static partial void LinkBroke(this ILogger logger, string peer, Channel channel, int index, DisconnectReason reason);

    [LoggerMessage(1006, LogLevel.Error, "The receiver of frames threw on link {Channel} {Index} of {Peer}")]
    public static partial void ReceiverFailed(this ILogger logger, Exception exception, string peer, Channel channel, int index);

    [LoggerMessage(1007, LogLevel.Error, "Accepting at {EndPoint} failed")]
    public static partial void AcceptFailed(this ILogger logger, Exception exception, EndPoint endPoint);

    [LoggerMessage(1008, LogLevel.Error, "Work of the mesh threw; the link concerned, if any, is closed")]
    public static partial void WorkFailed(this ILogger logger, Exception exception);

    [LoggerMessage(1009, LogLevel.Error, "The receiver of the event {Event} of {Peer} threw")]
    public static partial void EventFailed(this ILogger logger, Exception exception, string @event, string peer);

    [LoggerMessage(1010, LogLevel.Warning, "Dialling {Peer} threw")]
    public static partial void DialThrew(this ILogger logger, Exception exception, string peer);

    [LoggerMessage(1011, LogLevel.Warning,
        "ANY PROCESS THAT REACHES {EndPoint} IS TRUSTED AS A {Kind}: it listens beyond loopback with neither a secret "
            + "(UseClusterSecret) nor TLS (UseTls)")]
    public static partial void Unprotected(this ILogger logger, EndPoint endPoint, NodeKind kind);

    [LoggerMessage(1012, LogLevel.Warning, "{Count} more handshakes were refused and not logged")]
    public static partial void RefusalsNotLogged(this ILogger logger, long count);
}

/// <summary>
/// Reports the sessions of one <see cref="MeshNode"/> to the runtime, the meter and the log. An event handler that throws is logged here,
/// so that it does not interrupt the mesh. Control thread, except <see cref="ConnectionRefused"/> (any).
/// <para>Refusals are counted all, and logged up to <see cref="RefusalLines"/> in a second: strangers must not fill the log. Of the failed
/// dials of a peer, the first is logged, each with another reason than the one before, and then one in <see cref="DialPeriod"/>, with the
/// number of all.</para>
/// </summary>
internal sealed class MeshReports(MeshEvents events, MeshMetrics metrics, ILogger log, TimeProvider time)
{
    /// <summary>Lines of refusals in a second; enough to see what happens.</summary>
    private const int RefusalLines = 20;

    /// <summary>Time between two lines about dials of one peer that fail for the same reason.</summary>
    private static readonly TimeSpan DialPeriod = TimeSpan.FromSeconds(10);

    private readonly Lock _refusals = new();
    private long _secondBegan = time.GetTimestamp();
    private long _refused;

    /// <summary>A session is open. False if the event threw.</summary>
    public bool Connected(Peer peer, Session session)
    {
        Count(metrics.Sessions);
        log.PeerConnected(peer.Id!.Kind, peer.Name, session.Number, session.DataLinks, session.IsDialled ? "dialled" : "accepted");
        return Raise(peer, nameof(MeshEvents.PeerConnected), static (events, peer, _) => events.PeerConnected(peer));
    }

    /// <summary>An open session is over.</summary>
    public void Disconnected(Peer peer, Session session)
    {
        log.PeerDisconnected(peer.Name, session.Number, session.Reason);
        Raise(
            peer,
            nameof(MeshEvents.PeerDisconnected),
            static (events, peer, reason) => events.PeerDisconnected(peer, reason),
            session.Reason);
    }

    /// <summary>A dial has failed; <paramref name="delay"/> is the wait until the next one.</summary>
    public void DialFailed(Peer peer, DisconnectReason reason, TimeSpan? delay)
    {
        if (peer.Failures == 1 || peer.Logged.Reason != reason || time.GetElapsedTime(peer.Logged.At) >= DialPeriod)
        {
            peer.Logged = (reason, time.GetTimestamp());
            log.DialFailed(peer.Name, peer.Failures, reason, delay);
        }

        Raise(peer, nameof(MeshEvents.DialFailed), static (events, peer, reason) => events.DialFailed(peer, reason, peer.Failures), reason);
    }

    /// <summary>Counts a handshake that has failed.</summary>
    public void HandshakeFailed(DisconnectReason reason) =>
        Count(metrics.HandshakeFailures, new KeyValuePair<string, object?>("reason", reason.ToString()));

    /// <summary>An accepted link was closed before it joined a session.</summary>
    public void LinkRefused(Link link)
    {
        ConnectionRefused(link.RemoteEndPoint, link.AbortReason);
    }

    /// <summary>A connection was closed without a session. Any thread.</summary>
    public void ConnectionRefused(EndPoint? remote, DisconnectReason reason)
    {
        HandshakeFailed(reason);
        long notLogged = 0;
        lock (_refusals)
        {
            if (time.GetElapsedTime(_secondBegan) >= TimeSpan.FromSeconds(1))
            {
                notLogged = Math.Max(0, _refused - RefusalLines);
                (_secondBegan, _refused) = (time.GetTimestamp(), 0);
            }

            if (++_refused > RefusalLines)
                return;
        }

        if (notLogged > 0)
            log.RefusalsNotLogged(notLogged);

        log.LinkRefused(remote, reason);
    }

    /// <summary>A listener of the meter that throws loses what it is told, and nobody a link.</summary>
    private static void Count(System.Diagnostics.Metrics.Counter<long> counter, params ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        try
        {
            counter.Add(1, tags);
        }
        catch (Exception)
        {
            // It is the application's, and there is nobody to tell.
        }
    }

    /// <summary>A dial waits, because there were too many in this second.</summary>
    public void DialDelayed() => Count(metrics.DialsDelayed);

    /// <summary>A link of an open session was lost.</summary>
    public void LinkBroke(Link link)
    {
        Count(metrics.LinksBroken, new KeyValuePair<string, object?>("reason", link.AbortReason.ToString()));
        // The other process, or the network, has ended: the runtime logs that with the session.
        if (link.AbortReason != DisconnectReason.Reset)
            log.LinkBroke(link.Peer.Name, link.Channel, link.Index, link.AbortReason);
    }

    /// <summary>A dial threw.</summary>
    public void DialThrew(Exception exception, Peer peer) => log.DialThrew(exception, peer.Name);

    private bool Raise(
        Peer peer, string name, Action<MeshEvents, Peer, DisconnectReason> raise, DisconnectReason reason = DisconnectReason.None)
    {
        try
        {
            raise(events, peer, reason);
            return true;
        }
        catch (Exception exception)
        {
            log.EventFailed(exception, name, peer.Name);
            return false;
        }
    }
}
