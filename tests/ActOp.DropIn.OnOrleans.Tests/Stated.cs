using Orleans.Serialization;

namespace ActOp.DropIn.OnOrleans.Tests;

/// <summary>What differs between the runtimes, as it is on this one. docs/migrating-from-orleans.md states each difference.</summary>
internal static class Stated
{
    /// <summary>No codec is found for an exception of a class without generated code.</summary>
    internal static Type ExceptionWithoutCode => typeof(CodecNotFoundException);

    internal static string MessageWithoutCode(string message, string type) => $"Could not find a codec for type {type}.";

    /// <summary>Texts of exceptions that the runtime makes are its own; on ActOp they name grain and silo.</summary>
    internal static string TimeoutText(TimeSpan timeout) => "Response did not arrive on time in " + timeout + " for message: ";

    /// <summary>A call without a token takes no source of one on ActOp.</summary>
    internal const bool DefaultTokenCanBeCancelled = true;

    /// <summary>The hash of the id "type/key"; each runtime has a function of its own, and no other node uses it.</summary>
    internal const uint HashOfTypeAndKey = 831806783;

    /// <summary>How the grain type of a generic class names a type of the framework; only the nodes of a cluster must agree.</summary>
    internal const string NameOfString = "string";

    /// <summary>A grain that catches a conflict of its state and does not read it again could never write it.</summary>
    internal const bool ConflictThatIsCaughtEndsTheActivation = false;

    /// <summary>A client of ActOp manages the cluster only if the silos say so.</summary>
    internal static bool ClientsMayManage => true;

    /// <summary>OnCompletedAsync and OnErrorAsync of a stream are refused by both.</summary>
    internal const string RefusalToEndAStream = "NotImplemented" + "Exception";
}
