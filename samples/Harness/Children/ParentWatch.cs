namespace Harness.Children;

/// <summary>
/// Ends a child process with its parent: the parent holds the child's standard input open for as long as it wants the child.
/// </summary>
public static class ParentWatch
{
    /// <summary>A token that is cancelled when standard input ends.</summary>
    public static CancellationToken Start()
    {
        var ended = new CancellationTokenSource();
        var thread = new Thread(() =>
        {
            using Stream input = Console.OpenStandardInput();
            Span<byte> buffer = stackalloc byte[256];
            try
            {
                while (input.Read(buffer) > 0)
                {
                }
            }
            catch (IOException)
            {
                // A broken pipe means the same as a closed one.
            }
            ended.Cancel();
        })
        { IsBackground = true, Name = "parent watch" };
        thread.Start();
        return ended.Token;
    }
}
