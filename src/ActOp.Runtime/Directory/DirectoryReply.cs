namespace ActOp.Runtime.Directory;

/// <summary>The answer to a directory request.</summary>
/// <param name="Status">What became of it.</param>
/// <param name="Location">The registered location, when there is one.</param>
/// <param name="View">The view in which the slot was served, to be checked with <see cref="RegistrationFence"/>; or the owner's view when
/// it was not served.</param>
/// <param name="RetryAfter">When leased: milliseconds until it is worth asking again.</param>
[Orleans.GenerateSerializer]
internal readonly record struct DirectoryReply(DirectoryStatus Status, Location Location, long View, int RetryAfter = 0);
