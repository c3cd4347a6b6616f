using System.Collections.Concurrent;

namespace ActOp.Foundation;

/// <summary>Logs what a delegate of the application does wrong for grains of a class, once for each class. Any thread.</summary>
/// <param name="log">Gets the class, what was wrong, and the exception if there is one.</param>
internal sealed class OncePerClass(Action<Type, string, Exception?> log)
{
    private readonly ConcurrentDictionary<Type, bool> _logged = new();

    internal void Report(Type grainClass, string what, Exception? exception)
    {
        if (_logged.TryAdd(grainClass, true))
            log(grainClass, what, exception);
    }
}
