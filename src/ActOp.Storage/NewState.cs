using System.Linq.Expressions;
using System.Reflection;
using System.Runtime.CompilerServices;
using Orleans.Serialization.Serializers;

namespace ActOp.Storage;

/// <summary>
/// A new state for a grain without a record: by the activator that the application has registered, else by the constructor without
/// parameters, which may be private. A class that has none is created without a constructor, so its members have their default values; a
/// type of which no object can be created is null. Any thread.
/// </summary>
internal static class NewState<T>
{
    private static readonly Func<T>? Maker = FindMaker();

    /// <param name="activators">Those of the application, or null.</param>
    internal static T Create(IActivatorProvider? activators)
    {
        if (Maker is null)
            return default!;
        return activators?.GetActivator<T>() is { } own and not DefaultActivator<T> ? own.Create() : Maker();
    }

    private static Func<T>? FindMaker()
    {
        var type = typeof(T);
        if (type.IsValueType || type.IsAbstract || type.IsInterface || type.IsArray || type == typeof(string))
            return null;
        var constructor = type.GetConstructor(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic, []);
        return constructor is null
            ? static () => (T)RuntimeHelpers.GetUninitializedObject(typeof(T))
            : Expression.Lambda<Func<T>>(Expression.New(constructor)).Compile();
    }
}
