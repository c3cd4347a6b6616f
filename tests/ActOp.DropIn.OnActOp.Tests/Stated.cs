using DropIn;

namespace ActOp.DropIn.OnActOp.Tests;

/// <summary>What differs between the runtimes, as it is on this one. docs/migrating-from-orleans.md states each difference.</summary>
internal static class Stated
{
    /// <summary>An exception of a class without generated code keeps its type: the caller can catch it.</summary>
    internal static Type ExceptionWithoutCode => typeof(PlainException);

    internal static string MessageWithoutCode(string message, string type) => message;

    /// <summary>Texts of exceptions that the runtime makes are its own; on ActOp they name grain and silo.</summary>
    internal static string TimeoutText(TimeSpan timeout) => "got no answer within its response timeout of " + timeout;

    /// <summary>A call without a token takes no source of one on ActOp.</summary>
    internal const bool DefaultTokenCanBeCancelled = false;

    /// <summary>The hash of the id "type/key"; each runtime has a function of its own, and no other node uses it.</summary>
    internal const uint HashOfTypeAndKey = 390696568;

    /// <summary>How the grain type of a generic class names a type of the framework; only the nodes of a cluster must agree.</summary>
    internal const string NameOfString = "System.String";

    /// <summary>A grain that catches a conflict of its state and does not read it again could never write it.</summary>
    internal const bool ConflictThatIsCaughtEndsTheActivation = true;

    /// <summary>A client of ActOp manages the cluster only if the silos say so.</summary>
    internal static bool ClientsMayManage => false;

    /// <summary>OnCompletedAsync and OnErrorAsync of a stream are refused by both.</summary>
    internal const string RefusalToEndAStream = nameof(NotSupportedException);
}
