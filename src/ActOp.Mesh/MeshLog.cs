using System.Net;
using Microsoft.Extensions.Logging;

namespace ActOp.Mesh;

/// <summary>Every log line of the mesh. Ids 1000 to 1099.</summary>
internal static partial class MeshLog
{
    [LoggerMessage(1001, LogLevel.Information, "Connected to {Kind} {Peer} by session {Session} with {Links} data links, {Direction}")]
    public static partial void PeerConnected(this ILogger logger, NodeKind kind, string peer, ulong session, int links, string direction);

    [LoggerMessage(1002, LogLevel.Information, "Disconnected from {Peer}, session {Session}: {Reason}")]
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
}
